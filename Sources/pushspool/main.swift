Pushspool.start()
