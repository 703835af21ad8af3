# The cache: options and tables, its pages through hits, misses and failures, parts of pages, elements changed as one step,
# and what is moved before it is wanted.
foreach(name cache_options cache_table cache_claim cache_hand cache_pages cache_faults cache_full cache_flush
        cache_sectors cache_change cache_ahead cache_sequence cache_offer cache_pace)
  gn_unit(${name})
endforeach()
