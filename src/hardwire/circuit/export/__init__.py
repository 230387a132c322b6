"""Writers: one file a format, each with the encoder, the class sums and the argmax inside."""
