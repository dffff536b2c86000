/* Options of lwIP (src/include/lwip/opt.h): IPv4 with TCP, UDP and sockets, and an MQTT client. */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

/* Under FreeRTOS, with a task of lwIP's own; other tasks call it under its lock. */
#define NO_SYS 0
#define LWIP_TCPIP_CORE_LOCKING 1
#define SYS_LIGHTWEIGHT_PROT 1
#define LWIP_FREERTOS_THREAD_STACKSIZE_IS_STACKWORDS 1
#define TCPIP_THREAD_NAME "lwip"
#define TCPIP_THREAD_PRIO 4
#define TCPIP_THREAD_STACKSIZE 1024
#define TCPIP_MBOX_SIZE 16
#define DEFAULT_THREAD_STACKSIZE 1024
#define DEFAULT_RAW_RECVMBOX_SIZE 8
#define DEFAULT_UDP_RECVMBOX_SIZE 8
#define DEFAULT_TCP_RECVMBOX_SIZE 8
#define DEFAULT_ACCEPTMBOX_SIZE 4

/* Memory. */
#define MEM_ALIGNMENT 8
#define MEM_SIZE (32 * 1024)
#define MEMP_NUM_PBUF 32
#define PBUF_POOL_SIZE 24
#define MEMP_NUM_TCP_SEG 32
#define MEMP_NUM_SYS_TIMEOUT 16

/* Protocols. */
#define LWIP_ARP 1
#define LWIP_ETHERNET 1
#define LWIP_IPV4 1
#define LWIP_IPV6 0
#define LWIP_ICMP 1
#define LWIP_RAW 0
#define LWIP_DHCP 0
#define LWIP_AUTOIP 0
#define LWIP_ACD 0
#define LWIP_DNS 0
#define LWIP_UDP 1
#define LWIP_TCP 1
#define TCP_MSS 1460
#define TCP_WND (4 * TCP_MSS)
#define TCP_SND_BUF (4 * TCP_MSS)
#define LWIP_STATS 0

/* Interfaces for programs. */
#define LWIP_NETCONN 1
#define LWIP_SOCKET 1
#define LWIP_COMPAT_SOCKETS 0
#define LWIP_POSIX_SOCKETS_IO_NAMES 0
#define LWIP_TIMEVAL_PRIVATE 1
#define LWIP_PROVIDE_ERRNO 1
#define MQTT_OUTPUT_RINGBUF_SIZE 1024

#endif
