# The cache: options and tables, its pages through hits, misses and failures.
foreach(name cache_options cache_table cache_claim cache_pages cache_faults cache_flush)
  gn_unit(${name})
endforeach()
