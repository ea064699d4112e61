#include "flow/names.h"

#include <gtest/gtest.h>

#include "kernels/names.h"
#include "support/trace_maker.h"
#include "trace/links.h"

namespace assay {
namespace {

using testing::TraceMaker;

constexpr const char* kSendRecvKernel = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)";

// Of the trace's only kernel.
std::string kind_in(const Trace& trace) {
  const Links links = link_trace(trace);
  const KernelNames kernels(trace.strings, trace.activities.name, KernelBook::built_in());
  return collective_kind(trace, links, kernels, StringId(), ActivityId(0), links.activity_op[0]);
}

TraceMaker launched(const char* kernel) {
  TraceMaker maker;
  maker.call(1, "cudaLaunchKernel", 500, 10, 7).kernel(0, 7, kernel, 1000, 100, 7);
  return maker;
}

TEST(HostNames, MarksOfIterationsHaveNoOtherMeaning) {
  for (const char* mark : {"ProfilerStep#3", "step 12", "train_step#3", "Iteration 7", "batch: 4",
                           "[iter 9]", "global step 120", "Epoch[2]"}) {
    EXPECT_TRUE(classify_host_name(mark).step) << mark;
  }
  for (const char* name : {"step", "env_step 3", "optimizer.step", "layer 3", "aten::mm", "12", "",
                           "prepare step inputs 3"}) {
    EXPECT_FALSE(classify_host_name(name).step) << name;
  }
}

TEST(HostNames, CodeThatInductorWrote) {
  const std::string hash = "cov463qhi2m2kw6ldmzzijfv5t3cjjklfci3qly3nsw6upcskct3";
  EXPECT_TRUE(is_inductor_code("/tmp/torchinductor_root/ov/any.py(2533): call"));
  EXPECT_TRUE(is_inductor_code("/cache/ov/" + hash + ".py(2533): call"));
  EXPECT_TRUE(is_inductor_code(hash + ".py(1): call"));
  for (const std::string& name :
       {std::string("model.py(3): call"), "/x/" + hash + "a.py(3): call", hash,
        std::string("torch/_inductor/codecache.py(9): load"), std::string()}) {
    EXPECT_FALSE(is_inductor_code(name)) << name;
  }
}

TEST(HostNames, CallsOfTheSystemThatWait) {
  EXPECT_TRUE(classify_system_call("epoll_wait").outside);
  EXPECT_TRUE(classify_system_call("clock_nanosleep").outside);
  EXPECT_TRUE(classify_system_call("pthread_cond_wait").lock);
  EXPECT_FALSE(classify_system_call("pthread_cond_wait").outside);
  const HostName writes = classify_system_call("fsync");
  EXPECT_FALSE(writes.outside || writes.lock);
}

TEST(HostNames, CompilersAndReadsOfQueues) {
  EXPECT_TRUE(classify_host_name("numba/core/compiler.py(480): _compile_core").cold);
  EXPECT_FALSE(classify_host_name("re.py(251): compile").cold);
  EXPECT_TRUE(classify_host_name("<built-in function read>").read);
  EXPECT_FALSE(classify_host_name("<built-in function ready>").outside);
}

TEST(CollectiveKind, TheRequestIsInTheOperatorAroundASendReceiveKernel) {
  EXPECT_EQ(kind_in(launched(kSendRecvKernel)
                        .op(1, "c10d::alltoall_base_", 400, 200)
                        .op(1, "record_param_comms", 410, 180)
                        .build()),
            "all_to_all");
  EXPECT_EQ(kind_in(launched(kSendRecvKernel).op(1, "c10d::send", 400, 200).build()), "send_recv");
  EXPECT_EQ(kind_in(launched(kSendRecvKernel).build()), "send_recv");
}

TEST(CollectiveKind, ALabelAroundTheLaunchIsUsedIfThereIsNoOperator) {
  EXPECT_EQ(kind_in(launched(kSendRecvKernel)
                        .op(1, "record_param_comms", 400, 200)
                        .annotation(1, "nccl:all_to_all", 410, 150)
                        .build()),
            "all_to_all");
  // One that ended before the launch, and one of another thread, are not around it.
  EXPECT_EQ(kind_in(launched(kSendRecvKernel)
                        .annotation(1, "nccl:all_reduce", 400, 50)
                        .annotation(2, "nccl:all_gather", 400, 200)
                        .build()),
            "send_recv");
}

TEST(CollectiveKind, AKernelThatNamesItsCollectiveIsThat) {
  EXPECT_EQ(kind_in(launched("ncclDevKernel_Broadcast_RING_LL(ncclDevComm*)")
                        .op(1, "c10d::allgather_", 400, 200)
                        .build()),
            "broadcast");
}

}  // namespace
}  // namespace assay
