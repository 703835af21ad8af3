# Stores and the software controller.
foreach(name store_uri store_open store_transfer)
  gn_unit(${name})
endforeach()
