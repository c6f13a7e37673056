// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// MPI's C interface, as far as multi-GPU programs use it.
#include <stddef.h>

typedef struct cuco_mpi_comm* MPI_Comm;
typedef struct cuco_mpi_datatype* MPI_Datatype;
typedef struct cuco_mpi_op* MPI_Op;
typedef struct cuco_mpi_request* MPI_Request;
typedef struct cuco_mpi_info* MPI_Info;
typedef struct cuco_mpi_win* MPI_Win;
typedef struct cuco_mpi_group* MPI_Group;
typedef long MPI_Aint;
typedef struct MPI_Status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;

extern MPI_Comm cuco_mpi_comms[];
extern MPI_Datatype cuco_mpi_types[];
extern MPI_Op cuco_mpi_ops[];
#define MPI_SUCCESS 0
#define MPI_COMM_WORLD (cuco_mpi_comms[0])
#define MPI_COMM_SELF (cuco_mpi_comms[1])
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_COMM_TYPE_SHARED 0
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)1)
#define MPI_BYTE (cuco_mpi_types[0])
#define MPI_CHAR (cuco_mpi_types[1])
#define MPI_INT (cuco_mpi_types[2])
#define MPI_LONG (cuco_mpi_types[3])
#define MPI_FLOAT (cuco_mpi_types[4])
#define MPI_DOUBLE (cuco_mpi_types[5])
#define MPI_UNSIGNED (cuco_mpi_types[6])
#define MPI_UNSIGNED_CHAR (cuco_mpi_types[7])
#define MPI_UNSIGNED_LONG (cuco_mpi_types[8])
#define MPI_LONG_LONG (cuco_mpi_types[9])
#define MPI_LONG_LONG_INT (cuco_mpi_types[9])
#define MPI_UNSIGNED_LONG_LONG (cuco_mpi_types[10])
#define MPI_INT8_T (cuco_mpi_types[11])
#define MPI_INT16_T (cuco_mpi_types[12])
#define MPI_INT32_T (cuco_mpi_types[13])
#define MPI_INT64_T (cuco_mpi_types[14])
#define MPI_UINT8_T (cuco_mpi_types[15])
#define MPI_UINT16_T (cuco_mpi_types[16])
#define MPI_UINT32_T (cuco_mpi_types[17])
#define MPI_UINT64_T (cuco_mpi_types[18])
#define MPI_C_BOOL (cuco_mpi_types[19])
#define MPI_SUM (cuco_mpi_ops[0])
#define MPI_MAX (cuco_mpi_ops[1])
#define MPI_MIN (cuco_mpi_ops[2])
#define MPI_PROD (cuco_mpi_ops[3])
#define MPI_LAND (cuco_mpi_ops[4])
#define MPI_LOR (cuco_mpi_ops[5])
#define MPI_BOR (cuco_mpi_ops[6])
#define MPI_ANY_SOURCE -1
#define MPI_ANY_TAG -1
#define MPI_PROC_NULL -2
#define MPI_UNDEFINED -32766
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_ERROR_STRING 512
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3
#define MPI_INFO_ENV MPI_INFO_NULL

extern "C" {
double MPI_Wtime();
#define CUCO_MPI(name, ...)      \
    int MPI_##name(__VA_ARGS__); \
    int PMPI_##name(__VA_ARGS__);
CUCO_MPI(Init, int* argc, char*** argv)
CUCO_MPI(Init_thread, int* argc, char*** argv, int required, int* provided)
CUCO_MPI(Initialized, int* flag)
CUCO_MPI(Finalize)
CUCO_MPI(Abort, MPI_Comm comm, int code)
CUCO_MPI(Error_string, int code, char* text, int* length)
CUCO_MPI(Get_processor_name, char* name, int* length)
CUCO_MPI(Comm_rank, MPI_Comm comm, int* rank)
CUCO_MPI(Comm_size, MPI_Comm comm, int* size)
CUCO_MPI(Comm_split, MPI_Comm comm, int color, int key, MPI_Comm* part)
CUCO_MPI(Comm_split_type, MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part)
CUCO_MPI(Comm_dup, MPI_Comm comm, MPI_Comm* copy)
CUCO_MPI(Comm_free, MPI_Comm* comm)
CUCO_MPI(Send, const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
CUCO_MPI(Ssend, const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
CUCO_MPI(Recv, void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status* status)
CUCO_MPI(Isend, const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
         MPI_Request* request)
CUCO_MPI(Irecv, void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request)
CUCO_MPI(Sendrecv, const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
         int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm, MPI_Status* status)
CUCO_MPI(Wait, MPI_Request* request, MPI_Status* status)
CUCO_MPI(Waitall, int count, MPI_Request* requests, MPI_Status* statuses)
CUCO_MPI(Waitany, int count, MPI_Request* requests, int* index, MPI_Status* status)
CUCO_MPI(Test, MPI_Request* request, int* flag, MPI_Status* status)
CUCO_MPI(Testall, int count, MPI_Request* requests, int* flag, MPI_Status* statuses)
CUCO_MPI(Barrier, MPI_Comm comm)
CUCO_MPI(Ibarrier, MPI_Comm comm, MPI_Request* request)
CUCO_MPI(Bcast, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
CUCO_MPI(Ibcast, void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
CUCO_MPI(Reduce, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
CUCO_MPI(Allreduce, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
CUCO_MPI(Iallreduce, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         MPI_Request* request)
CUCO_MPI(Reduce_scatter_block, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
CUCO_MPI(Scan, const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
CUCO_MPI(Gather, const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
         MPI_Datatype receive_type, int root, MPI_Comm comm)
CUCO_MPI(Scatter, const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
         MPI_Datatype receive_type, int root, MPI_Comm comm)
CUCO_MPI(Allgather, const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
         MPI_Datatype receive_type, MPI_Comm comm)
CUCO_MPI(Iallgather, const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
         MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
CUCO_MPI(Allgatherv, const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* receive_counts,
         const int* displacements, MPI_Datatype receive_type, MPI_Comm comm)
CUCO_MPI(Alltoall, const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
         MPI_Datatype receive_type, MPI_Comm comm)
CUCO_MPI(Ialltoall, const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
         MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request)
CUCO_MPI(Alltoallv, const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
         void* receive, const int* receive_counts, const int* receive_displacements, MPI_Datatype receive_type,
         MPI_Comm comm)
CUCO_MPI(Put, const void* origin, int origin_count, MPI_Datatype origin_type, int peer, MPI_Aint offset, int count,
         MPI_Datatype type, MPI_Win window)
CUCO_MPI(Get, void* origin, int origin_count, MPI_Datatype origin_type, int peer, MPI_Aint offset, int count,
         MPI_Datatype type, MPI_Win window)
#undef CUCO_MPI
}
