/*
 * Prints the user id of the process that connected to the Unix socket on standard input, as the kernel recorded it at
 * the connection. `lattice up` of root uses it to learn which account calls.
 */
#include <stdio.h>
#include <sys/socket.h>

int main(void) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(0, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || length != sizeof peer) return 1;
  return printf("%u\n", (unsigned)peer.uid) < 0;
}
