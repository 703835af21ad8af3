# The cache: options and tables, its pages through hits, misses and failures.
foreach(name cache_options)
  gn_unit(${name})
endforeach()
