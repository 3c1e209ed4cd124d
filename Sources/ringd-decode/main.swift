print("decode")
