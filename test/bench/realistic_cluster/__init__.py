"""A cluster with realistic load: the real control plane, simulated nodes, and workloads that change. Used by ../realistic.py."""
