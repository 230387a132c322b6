/* Prints what «name» makes of «count» zeros; put the numbers of a sensor in their place. */
#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>
#include "«name».h"

static «real» numbers[«count»];
<% if quantizes %>
static «type» raw[«count»];
<% endif %>

int main(void)
{
<% if quantizes %>
    «name»_quantize(numbers, raw);
    const int answer = «name»_predict«single»(raw);
<% else %>
    const int answer = «name»_predict«single»(numbers);
<% endif %>
<% if class_names %>
    printk("%s\n", «name»_class_names[answer]);
<% elif offset is not none %>
    printk("%d * 2^%d\n", answer, «NAME»_EXPONENT);
<% else %>
    printk("class %d\n", answer);
<% endif %>
    return 0;
}
