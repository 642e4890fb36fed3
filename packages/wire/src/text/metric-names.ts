// The names of the metrics of an allocation, for servers and shell completion.

export const METRICS = [
  "gpu_utilization",
  "gpu_memory_used",
  "gpu_power_draw",
  "cpu_utilization",
  "memory_used",
  "network_tx_bytes",
  "network_rx_bytes",
  "io_read_bytes",
  "io_write_bytes",
  "io_latency_p99",
] as const;
