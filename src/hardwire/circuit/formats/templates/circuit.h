/*
<% for line in comment %>
 * «line»
<% endfor %>
 */
#ifndef «NAME»_H
#define «NAME»_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define «NAME»_VERSION "«version»"
#define «NAME»_DIGEST "«digest»"
<% if accuracy is not none %>
#define «NAME»_ACCURACY «accuracy»
<% endif %>
#define «NAME»_INPUTS «inputs»
#define «NAME»_CLASSES «classes»
#define «NAME»_WORD «word»
<% if offset is not none %>
#define «NAME»_EXPONENT («exponent») /* an answer stands for answer * 2^«NAME»_EXPONENT */
<% endif %>
<% if encodes %>
#define «NAME»_VALUES «count»
<% endif %>
<% if form in ("row", "mixed") %>
/* Bytes of flash and of stack that the functions take, about, on a Cortex-M0+ at -Os. */
#define «NAME»_CODE_BYTES «code_bytes»
<% else %>
/* Constant tables in flash, «"to which straight-line code adds most" if form == "code" else "to which code adds some 1,000 bytes"», and what the bits of
 * an image take of the stack, to which calls add some 150 bytes. */
#define «NAME»_TABLE_BYTES «table_bytes»
<% endif %>
#define «NAME»_STACK_BYTES «stack_bytes»
<% if encodes %>

/* One image of «NAME»_VALUES values: its «"class" if offset is none else "answer"»; its scores, «NAME»_CLASSES of them. */
int «name»_predict(const «type» *raw);
void «name»_scores(const «type» *raw, int32_t *scores);
<% endif %>
<% if form not in ("row", "mixed") or not encodes %>

/* One image of «NAME»_INPUTS bits, a byte each, zero or not. */
int «name»_predict_bits(const uint8_t *bits);
void «name»_scores_bits(const uint8_t *bits, int32_t *scores);
<% endif %>
<% if word > 1 %>

/* Up to «word» images as rows, one after the other, to bits[i], input i of all of them; image k is bit k. */
void «name»_pack«word»(const uint8_t *rows, int images, uint«word»_t *bits);
<% if encodes %>
void «name»_encode«word»(const «type» *raw, int images, uint«word»_t *bits);
<% endif %>

/* «word» images at once: scores [«word»][«NAME»_CLASSES], «answers» [«word»]. */
void «name»_scores«word»(const uint«word»_t *bits, int32_t *scores);
void «name»_predict«word»(const uint«word»_t *bits, int32_t *«answers»);
<% endif %>
<% include "names.h" %>

#ifdef __cplusplus
}
#endif
#endif
