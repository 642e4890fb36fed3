/*
 * The JSON subset of launch responses. Lines come from Lattice servers, one object each. A malformed value is treated as
 * missing.
 */
#include "launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') at++;
  return at;
}

static const char *skip_string(const char *at) {
  for (at++; *at != 0 && *at != '"'; at++)
    if (*at == '\\' && at[1] != 0) at++;
  return *at == 0 ? at : at + 1;
}

static const char *skip_value(const char *at) {
  if (*at == '"') return skip_string(at);
  if (*at != '{' && *at != '[') return at + strcspn(at, ",}] ");
  int depth = 0;
  while (*at != 0) {
    if (*at == '"') {
      at = skip_string(at);
      continue;
    }
    if (*at == '{' || *at == '[') depth++;
    if (*at == '}' || *at == ']') depth--;
    at++;
    if (depth == 0) break;
  }
  return at;
}

const char *member(const char *object, const char *name) {
  if (object == NULL || *object != '{') return NULL;
  size_t length = strlen(name);
  const char *at = skip_space(object + 1);
  while (*at == '"') {
    const char *key = at + 1;
    at = skip_string(at);
    int same = (size_t)(at - key) == length + 1 && strncmp(key, name, length) == 0;
    at = skip_space(at);
    if (*at != ':') return NULL;
    at = skip_space(at + 1);
    if (same) return at;
    at = skip_space(skip_value(at));
    if (*at != ',') return NULL;
    at = skip_space(at + 1);
  }
  return NULL;
}

size_t length_of(const char *value) { return (size_t)(skip_value(value) - value); }

long number_of(const char *value, long otherwise) { return value == NULL ? otherwise : strtol(value, NULL, 10); }

static unsigned hex4(const char *at) {
  char digits[5] = {0};
  strncpy(digits, at, 4);
  return (unsigned)strtoul(digits, NULL, 16);
}

static void add_point(struct text *into, unsigned point) {
  char bytes[4];
  size_t count = 0;
  if (point < 0x80) bytes[count++] = (char)point;
  else if (point < 0x800) bytes[count++] = (char)(0xc0 | point >> 6);
  else if (point < 0x10000) bytes[count++] = (char)(0xe0 | point >> 12);
  else bytes[count++] = (char)(0xf0 | point >> 18);
  if (point >= 0x10000) bytes[count++] = (char)(0x80 | (point >> 12 & 63));
  if (point >= 0x800) bytes[count++] = (char)(0x80 | (point >> 6 & 63));
  if (point >= 0x80) bytes[count++] = (char)(0x80 | (point & 63));
  text_add(into, bytes, count);
}

/* `at` points behind the backslash; returns the position behind the escape. */
static const char *add_escaped(struct text *into, const char *at) {
  static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
  if (*at != 'u') {
    const char *found = strchr(names, *at);
    text_add(into, found != NULL ? &meant[found - names] : at, 1);
    return at + 1;
  }
  if (strlen(at) < 5) return at + strlen(at);
  unsigned point = hex4(at + 1);
  at += 5;
  if (point >= 0xd800 && point < 0xdc00 && at[0] == '\\' && at[1] == 'u' && strlen(at) >= 6) {
    point = 0x10000 + ((point - 0xd800) << 10) + (hex4(at + 2) - 0xdc00);
    at += 6;
  }
  add_point(into, point);
  return at;
}

void string_of(const char *value, struct text *into) {
  into->length = 0;
  text_puts(into, "");
  if (value == NULL || *value != '"') return;
  for (const char *at = value + 1; *at != 0 && *at != '"';) {
    if (*at == '\\' && at[1] != 0) {
      at = add_escaped(into, at + 1);
      continue;
    }
    size_t count = strcspn(at, "\"\\");
    text_add(into, at, count);
    at += count;
  }
}

void base64_of(const char *value, struct text *into) {
  static signed char values[256];
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (values['B'] == 0) {
    memset(values, -1, sizeof values);
    for (int at = 0; at < 64; at++) values[(unsigned char)digits[at]] = (signed char)at;
  }
  into->length = 0;
  text_puts(into, "");
  if (value == NULL || *value != '"') return;
  unsigned buffer = 0, bits = 0;
  for (const char *at = value + 1; values[(unsigned char)*at] >= 0; at++) {
    buffer = buffer << 6 | (unsigned)values[(unsigned char)*at];
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    char byte = (char)(buffer >> bits & 255);
    text_add(into, &byte, 1);
  }
}

void json_string(struct text *into, const char *words) {
  text_add(into, "\"", 1);
  for (const char *at = words; *at != 0; at++) {
    char escaped[8];
    if (*at == '"' || *at == '\\') snprintf(escaped, sizeof escaped, "\\%c", *at);
    else if ((unsigned char)*at < 0x20) snprintf(escaped, sizeof escaped, "\\u%04x", *at);
    else snprintf(escaped, sizeof escaped, "%c", *at);
    text_puts(into, escaped);
  }
  text_add(into, "\"", 1);
}
