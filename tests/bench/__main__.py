"""Run every benchmark: `python -m tests.bench`."""

from tests.bench import bench_distributed, bench_encode, bench_metrics, bench_sizes, bench_streaming

if __name__ == "__main__":
    bench_distributed.main()
    bench_encode.main()
    bench_metrics.main()
    bench_sizes.main()
    bench_streaming.main()
