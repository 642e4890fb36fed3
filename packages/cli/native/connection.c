/*
 * A connection to a server, plain or with TLS. OpenSSL is loaded at run time, so that this program builds without its
 * headers and starts without it. TLS needs an explicit CA file; a server whose certificate does not verify is left to
 * the Node program, which reports why.
 */
#include "launch.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define VERIFY_PEER 1
#define SET_SERVER_NAME 55

struct connection {
  int socket;
  void *tls; /* NULL without TLS */
  int (*tls_read)(void *, void *, int);
  int (*tls_write)(void *, const void *, int);
};

static int open_socket(const struct request *request) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
  if (getaddrinfo(request->host.bytes, request->port.bytes, &hints, &found) != 0) return -1;
  int made = -1;
  for (const struct addrinfo *at = found; at != NULL && made < 0; at = at->ai_next) {
    made = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (made >= 0 && connect(made, at->ai_addr, at->ai_addrlen) != 0) {
      close(made);
      made = -1;
    }
  }
  freeaddrinfo(found);
  int on = 1;
  if (made >= 0) setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return made;
}

static int is_ip_address(const char *host) {
  char bytes[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* Returns NULL without OpenSSL or when the server's certificate does not verify. */
static void *start_tls(struct connection *made, const struct request *request) {
  void *library = dlopen("libssl.so.3", RTLD_LAZY);
  if (library == NULL || request->ca_file == NULL) return NULL;
#define FIND(result, name, ...) result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))dlsym(library, #name)
  FIND(const void *, TLS_client_method, void);
  FIND(void *, SSL_CTX_new, const void *);
  FIND(int, SSL_CTX_load_verify_locations, void *, const char *, const char *);
  FIND(void, SSL_CTX_set_verify, void *, int, void *);
  FIND(void *, SSL_new, void *);
  FIND(int, SSL_set_fd, void *, int);
  FIND(long, SSL_ctrl, void *, int, long, void *);
  FIND(int, SSL_set1_host, void *, const char *);
  FIND(void *, SSL_get0_param, void *);
  FIND(int, X509_VERIFY_PARAM_set1_ip_asc, void *, const char *);
  FIND(int, SSL_connect, void *);
#undef FIND
  made->tls_read = (int (*)(void *, void *, int))dlsym(library, "SSL_read");
  made->tls_write = (int (*)(void *, const void *, int))dlsym(library, "SSL_write");
  if (!TLS_client_method || !SSL_CTX_new || !SSL_CTX_load_verify_locations || !SSL_CTX_set_verify || !SSL_new ||
      !SSL_set_fd || !SSL_ctrl || !SSL_set1_host || !SSL_get0_param || !X509_VERIFY_PARAM_set1_ip_asc || !SSL_connect ||
      !made->tls_read || !made->tls_write)
    return NULL;
  void *context = SSL_CTX_new(TLS_client_method());
  if (context == NULL || SSL_CTX_load_verify_locations(context, request->ca_file, NULL) != 1) return NULL;
  SSL_CTX_set_verify(context, VERIFY_PEER, NULL);
  void *tls = SSL_new(context);
  char *host = request->host.bytes;
  if (tls == NULL || SSL_set_fd(tls, made->socket) != 1) return NULL;
  if (is_ip_address(host)) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) != 1) return NULL;
  } else if (SSL_set1_host(tls, host) != 1 || SSL_ctrl(tls, SET_SERVER_NAME, 0, host) != 1) return NULL;
  return SSL_connect(tls) == 1 ? tls : NULL;
}

struct connection *connect_to(const struct request *request) {
  struct connection *made = calloc(1, sizeof *made);
  if (made == NULL) abort();
  made->socket = open_socket(request);
  if (made->socket >= 0 && request->secure) made->tls = start_tls(made, request);
  if (made->socket >= 0 && (!request->secure || made->tls != NULL)) return made;
  connection_close(made);
  return NULL;
}

void connection_close(struct connection *connection) {
  if (connection->socket >= 0) close(connection->socket);
  free(connection);
}

int connection_write(struct connection *connection, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t count = connection->tls != NULL ? connection->tls_write(connection->tls, bytes, (int)length)
                                            : write(connection->socket, bytes, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return 0;
    bytes += count;
    length -= (size_t)count;
  }
  return 1;
}

long connection_read(struct connection *connection, char *bytes, size_t most) {
  for (;;) {
    ssize_t count = connection->tls != NULL ? connection->tls_read(connection->tls, bytes, (int)most)
                                            : read(connection->socket, bytes, most);
    if (count >= 0 || connection->tls != NULL || errno != EINTR) return count;
  }
}
