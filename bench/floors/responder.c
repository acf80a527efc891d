/*
 * The limit of what one core can send through the kernel: a server on epoll in one thread that reads requests without looking at them, and
 * responds to each with the same bytes. Arguments: the port on 127.0.0.1, and the file with the whole response. Linux only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static char response[1 << 20];
static size_t response_length;
static char request[1 << 16];

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void read_response(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail(path);
  response_length = fread(response, 1, sizeof response, file);
  fclose(file);
}

static int listen_on(int port) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  int on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) fail("bind");
  if (listen(listener, 1024) < 0) fail("listen");
  return listener;
}

static void watch(int epoll, int socket) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) < 0) fail("epoll_ctl");
}

/* The load sends one request at a time on a connection, and each fits into one read. */
static void respond(int socket) {
  ssize_t length = read(socket, request, sizeof request);
  if (length <= 0) {
    close(socket);
    return;
  }
  for (size_t sent = 0; sent < response_length;) {
    ssize_t more = write(socket, response + sent, response_length - sent);
    if (more < 0) {
      close(socket);
      return;
    }
    sent += more;
  }
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  read_response(arguments[2]);
  int listener = listen_on(atoi(arguments[1]));
  int epoll = epoll_create1(0);
  watch(epoll, listener);
  for (;;) {
    struct epoll_event events[256];
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      int socket = events[i].data.fd;
      if (socket != listener) {
        respond(socket);
        continue;
      }
      int accepted = accept(listener, NULL, NULL);
      if (accepted < 0) continue;
      int on = 1;
      setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      watch(epoll, accepted);
    }
  }
}
