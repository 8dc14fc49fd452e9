#pragma once
#include <microhttpd.h>

// Swift cannot call functions with variable arguments.

/// Takes the target of a request as the client wrote it. What it returns becomes the state of the request.
typedef void *(*cmicrohttpd_target_callback)(void *owner, const char *target, struct MHD_Connection *connection);

/// Starts a server on a listening socket, which it takes over. The owner runs it: it has no thread.
static inline struct MHD_Daemon *cmicrohttpd_start(
    int socket, unsigned int connection_limit, size_t connection_memory, unsigned int idle_seconds,
    MHD_AccessHandlerCallback handle, MHD_RequestCompletedCallback end, MHD_NotifyConnectionCallback change,
    cmicrohttpd_target_callback target, void *owner)
{
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, owner,
        MHD_OPTION_LISTEN_SOCKET, (MHD_socket)socket,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, end, owner,
        MHD_OPTION_NOTIFY_CONNECTION, change, owner,
        MHD_OPTION_URI_LOG_CALLBACK, target, owner,
        MHD_OPTION_END);
}

/// Returns the descriptor that is readable when the server has something to do; -1 if there is none.
static inline int cmicrohttpd_descriptor(struct MHD_Daemon *server)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

/// Returns the socket of a connection; -1 if it has none.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// Returns what `change` stored for a connection.
static inline void *cmicrohttpd_context(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// Returns the length of a request's head with the empty line at its end.
static inline size_t cmicrohttpd_head_size(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// The constants of these enumerations have no names in Swift.
static const enum MHD_RequestTerminationCode cmicrohttpd_delivered = MHD_REQUEST_TERMINATED_COMPLETED_OK;
static const enum MHD_ConnectionNotificationCode cmicrohttpd_started = MHD_CONNECTION_NOTIFY_STARTED;
