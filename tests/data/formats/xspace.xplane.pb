
/device:GPU:0
	/host:CPU