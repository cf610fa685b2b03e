"""cost.svg: placeholder"""
def cost(results, path):
    pass
