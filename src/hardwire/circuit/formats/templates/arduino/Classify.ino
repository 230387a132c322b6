/* Reads «count» numbers from the serial port, separated by blanks or commas, and prints what «name» makes of them. */
#include <«name».h>

void setup() {
  Serial.begin(115200);
  Serial.setTimeout(60000);
}

void loop() {
  static «real» numbers[«count»];
<% if quantizes %>
  static «type» raw[«count»];
<% endif %>
  for (int i = 0; i < «count»; ++i)
    numbers[i] = («real»)Serial.<% if real == "float" %>parseFloat<% else %>parseInt<% endif %>();
<% if quantizes %>
  «name»_quantize(numbers, raw);
  const int answer = «name»_predict«single»(raw);
<% else %>
  const int answer = «name»_predict«single»(numbers);
<% endif %>
<% if class_names %>
  Serial.println(«name»_class_names[answer]);
<% elif offset is not none %>
  Serial.println(ldexp(answer, «NAME»_EXPONENT), 6);
<% else %>
  Serial.println(answer);
<% endif %>
}
