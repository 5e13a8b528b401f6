"""Attribution searches against simulated models whose answer is known."""
