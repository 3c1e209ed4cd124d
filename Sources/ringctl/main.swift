print("ringctl")
