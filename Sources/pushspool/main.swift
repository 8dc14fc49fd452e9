print("pushspool")
