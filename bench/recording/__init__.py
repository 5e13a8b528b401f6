"""What recording costs and survives, beside the public package `runtape` 0.5.0 and beside no recorder."""
