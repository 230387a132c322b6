# Writes the real tables of Debian's r-cran-mlbench and r-cran-kernlab as CSV files, the target last:
#   apt-get install r-cran-mlbench r-cran-kernlab && Rscript benchmarks/real_tables.R FOLDER
folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, showWarnings = FALSE)
write <- function(name, package, target, drop = c()) {
  data(list = name, package = package, envir = environment())
  table <- get(name)
  others <- setdiff(names(table), c(target, drop))
  write.csv(table[, c(others, target)], file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
}
for (item in list(c("BreastCancer", "Class"), c("DNA", "Class"), c("Glass", "Type"), c("HouseVotes84", "Class"),
                  c("Ionosphere", "Class"), c("LetterRecognition", "lettr"), c("PimaIndiansDiabetes2", "diabetes"),
                  c("Satellite", "classes"), c("Shuttle", "Class"), c("Sonar", "Class"), c("Soybean", "Class"),
                  c("Vehicle", "Class"), c("Vowel", "Class"), c("Zoo", "type"), c("BostonHousing", "medv"),
                  c("Ozone", "V4"), c("Servo", "Class")))
  write(item[1], "mlbench", item[2], drop = "Id")
for (item in list(c("income", "INCOME"), c("musk", "Class"), c("spam", "type"), c("ticdata", "CARAVAN")))
  write(item[1], "kernlab", item[2])
