<% if column_names %>

/* The columns in the order of the values, and the number of each. */
static const char *const «name»_column_names[«column_names|length»] = {
<% for text in column_names %>
    «text»,
<% endfor %>
};
enum {
<% for code in column_codes %>
    «NAME»_«code» = «loop.index0»,
<% endfor %>
};
<% endif %>
<% for place, others, codes in text_codes %>

/* Column «place» is a text; its value is the number of the text: «others». */
enum {
<% for code in codes %>
    «NAME»_«code» = «loop.index0»,
<% endfor %>
};
<% endfor %>
<% if class_names %>

/* The classes, by what `predict` returns. */
static const char *const «name»_class_names[«NAME»_CLASSES] = {
<% for text in class_names %>
    «text»,
<% endfor %>
};
enum {
<% for code in class_codes %>
    «NAME»_«code» = «loop.index0»,
<% endfor %>
};
<% endif %>
<% if quantizes %>
<% if scales %>

/* A value q of `predict` stands for offset + scale * q. */
static const double «name»_scale[«NAME»_VALUES] = {
    «scales|initialiser»};
static const double «name»_offset[«NAME»_VALUES] = {
    «offsets|initialiser»};
<% endif %>

/* Raw numbers, one for each column, as what `predict` takes<% if whole %>: the nearest value, halves down<% endif %>. */
static inline void «name»_quantize(const «real» *numbers, «type» *raw)
{
    int i;
    for (i = 0; i < «NAME»_VALUES; ++i) {
<% if not whole %>
        raw[i] = («type»)numbers[i];
<% else %>
        const double q = <% if scales %>(numbers[i] - «name»_offset[i]) / «name»_scale[i] - 0.5<% elif real == "float" %>numbers[i] - 0.5<% else %>numbers[i]<% endif %>;
        const int32_t whole = q > «low» && q < «high» ? (int32_t)q : 0;
        raw[i] = («type»)(q >= «high» ? «high» : q > «low» ? whole + (whole < q) : «"(-2147483647 - 1)" if low < -2147483647 else low»); /* NaN: the lowest */
<% endif %>
    }
}
<% endif %>
