/*
<% for line in about %>
 * «line»
<% endfor %>
 */
#ifndef «NAME»_H
#define «NAME»_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define «NAME»_INPUTS «inputs»
#define «NAME»_CLASSES «classes»
<% if offset is not none %>
#define «NAME»_EXPONENT («exponent») /* an answer stands for answer * 2^«NAME»_EXPONENT */
<% endif %>

/* Up to 64 images as rows of «NAME»_INPUTS bytes, 0 or 1, to bits[i], input i of all of them. */
void «name»_pack64(const uint8_t *rows, int images, uint64_t *bits);

/* 64 images at once: image k is bit k of every word. scores: [64][«NAME»_CLASSES], «"classes" if offset is none else "answers"»: [64]. */
void «name»_scores64(const uint64_t *bits, int32_t *scores);
void «name»_predict64(const uint64_t *bits, int32_t *«"classes" if offset is none else "answers"»);

/* One image of «NAME»_INPUTS bits, a byte each. */
int «name»_predict_bits(const uint8_t *bits);
<% if encodes %>

/* «NAME»_RAW values of an image go through the encoder: value > threshold. */
#define «NAME»_RAW «count»
void «name»_encode64(const «type» *raw, int images, uint64_t *bits);
int «name»_predict(const «type» *raw);
<% endif %>
#ifdef __cplusplus
}
#endif
#endif
