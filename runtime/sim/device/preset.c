/*
 * preset.c - named devices. Every figure has its source. A figure that nobody published
 * is that of a similar device, and the source says so.
 *
 * Matrix rates of the TPUs: f32 products run at the bf16 rate, since XLA's default
 * precision on TPU rounds f32 operands to bf16 and multiplies once (jax.lax.Precision
 * and XLA's documents). Vector rates: lanes x ALUs x clock x cores, 8 x 128 lanes with
 * 4 ALUs each, as "How to Scale Your Model" (jax-ml.github.io/scaling-book, chapter on
 * TPUs) counts for v5e and v5p; the same rule for the others.
 */
#include "runtime/sim/device/config.h"

#include <string.h>

/* Host time of a call, as measured with XLA's plugin for CPUs, see "cpu-2". No call
 * of an accelerator was measured, so the presets of TPUs and GPUs have these figures. */
#define HOST_CALL "execute_us=2,argument_us=0.14,result_us=0.4,release_us=0.3,"

static const sim_preset presets[] = {
    {"ideal",
     "kind=simulated device,f64_gflops=1000,f32_gflops=1000,f16_gflops=1000,int_gops=1000,"
     "vector_gflops=1000,memory_gbps=1000,group_us=0,execute_us=0,argument_us=0,result_us=0,"
     "launch_us=0,completion_us=0,release_us=0,transfer_us=0,to_device_gbps=100,to_host_gbps=100,"
     "compile_us=0,compile_op_us=0,memory_bytes=17179869184",
     "Round numbers and no overhead: for tests, which set what they need."},
    {"tpu-v4",
     "kind=simulated TPU v4,f64_gflops=100,f32_gflops=275000,f16_gflops=275000,int_gops=275000,"
     "vector_gflops=8600,memory_gbps=1228,memory_bytes=34359738368,group_us=0.5," HOST_CALL
     "launch_us=15,completion_us=10,transfer_us=20,to_device_gbps=8,to_host_gbps=8,"
     "compile_us=50000,compile_op_us=2000",
     "Google Cloud, TPU v4: 275 TFLOPS bf16 or int8 a chip, 32 GiB, 1228 GB/s; clock 1.05 GHz, 2 "
     "cores. f64 is emulated: the rate is a guess. Fixed cost of a group, launch, completion, "
     "transfers (PCIe 3 x16 at half its rate) and compile time are assumptions, not published."},
    {"tpu-v5e",
     "kind=simulated TPU v5e,f64_gflops=100,f32_gflops=197000,f16_gflops=197000,int_gops=394000,"
     "vector_gflops=6100,memory_gbps=819,memory_bytes=17179869184,group_us=0.5," HOST_CALL
     "launch_us=15,completion_us=10,transfer_us=20,to_device_gbps=16,to_host_gbps=16,"
     "compile_us=50000,compile_op_us=2000",
     "Google Cloud, TPU v5e: 197 TFLOPS bf16, 394 TOPS int8, 16 GB, 819 GB/s a chip; clock 1.5 "
     "GHz, 1 core. The rest as tpu-v4."},
    {"tpu-v5p",
     "kind=simulated TPU v5p,f64_gflops=200,f32_gflops=459000,f16_gflops=459000,int_gops=918000,"
     "vector_gflops=14300,memory_gbps=2765,memory_bytes=102005473280,group_us=0.5," HOST_CALL
     "launch_us=15,completion_us=10,transfer_us=20,to_device_gbps=16,to_host_gbps=16,"
     "compile_us=50000,compile_op_us=2000",
     "Google Cloud, TPU v5p: 459 TFLOPS bf16, 918 TOPS int8, 95 GB, 2765 GB/s a chip; 2 cores. "
     "How to Scale Your Model: clock 1.75 GHz. The rest as tpu-v4."},
    {"tpu-v6e",
     "kind=simulated TPU v6e,f64_gflops=200,f32_gflops=918000,f16_gflops=918000,int_gops=1836000,"
     "vector_gflops=7200,memory_gbps=1640,memory_bytes=34359738368,group_us=0.5," HOST_CALL
     "launch_us=15,completion_us=10,transfer_us=20,to_device_gbps=32,to_host_gbps=32,"
     "compile_us=50000,compile_op_us=2000",
     "Google Cloud, TPU v6e (Trillium): 918 TFLOPS bf16, 1836 TOPS int8, 32 GB, 1640 GB/s a chip; "
     "1 core. No clock is published: 1.75 GHz, that of a v5p, is an assumption. The rest as "
     "tpu-v4."},
    {"h100",
     "kind=simulated H100 SXM,f64_gflops=66900,f32_gflops=494700,f16_gflops=989400,"
     "int_gops=1978900,vector_gflops=66900,memory_gbps=3350,memory_bytes=85899345920,"
     "group_us=2.5," HOST_CALL
     "launch_us=5,completion_us=5,transfer_us=10,to_device_gbps=50,to_host_gbps=50,"
     "compile_us=100000,compile_op_us=3000",
     "NVIDIA, H100 Tensor Core GPU data sheet, SXM, dense: 989.4 TFLOPS bf16, 494.7 TF32 (which "
     "XLA takes for f32 products by default), 66.9 f32, 66.9 f64 on tensor cores, 1978.9 TOPS "
     "int8, 80 GB, 3.35 TB/s; PCIe 5 x16 at 80 % of 64 GB/s. A group is one kernel: about 2.5 us "
     "from launch to launch in a CUDA stream, an assumption, as are launch and compile times."},
    {"cpu-2",
     "kind=simulated 2-core CPU,f64_gflops=106,f32_gflops=213,f16_gflops=423,int_gops=100,"
     "vector_gflops=20,memory_gbps=12,memory_bytes=25769803776,group_us=1,execute_us=2,"
     "argument_us=0.14,result_us=0.4,launch_us=5,completion_us=5,release_us=0.3,transfer_us=3,"
     "to_device_gbps=1.6,to_host_gbps=9,compile_us=10000,compile_op_us=700",
     "Measured for this project on two cores of a Zen 4 with AVX-512 and XLA's CPU plugin: "
     "products of 1024 x 1024 (f32 213, bf16 423 GFLOP/s), Execute with 1 to 300 arguments, 64 "
     "MiB to the device in 31-56 ms and back in 5-10 ms. f64 is half of f32; memory, vector rate "
     "and compile time are rough."},
    {"cpu-2-shared",
     "preset=cpu-2,kind=simulated shared 2-core CPU,process_sd=0.04,wander_sd=0.03,"
     "wander_executions=200,jitter=0.01,burst_rate=10,burst_us=4000",
     "cpu-2 under other load. Measured for this project on two shared cores: medians of processes "
     "that run the same program vary by 3 to 6 % (robust standard deviation), and the steps of a "
     "process are so alike that their variance is 32 to 85 times that of independent ones. How "
     "fast "
     "it wanders, jitter and bursts (a scheduler's slice, ten times a second of work) are "
     "assumptions."},
    {"tpu-v4-2023",
     "preset=tpu-v4,kind=simulated TPU v4 (January 2023),execute_us=1100,argument_us=0,"
     "result_us=0,launch_us=1100,completion_us=1000",
     "tpu-v4 with the overheads of an execution published in January 2023 for PyTorch/XLA on a "
     "TPU v4: PJRT time less device time 4.0, 1.8, 4.3, 2.3, 3.6, 3.2 ms, on average 3.2 ms. How "
     "they divide into call, launch and completion was not published: a third each here."},
};

const sim_preset *sim_preset_at(size_t index)
{
    return index < sizeof presets / sizeof *presets ? &presets[index] : NULL;
}

const sim_preset *sim_preset_find(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}
