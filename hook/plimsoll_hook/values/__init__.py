"""What device memory reads as: values that follow from the host's data, and the policy for all others."""
