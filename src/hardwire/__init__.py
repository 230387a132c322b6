"""hardwire"""
