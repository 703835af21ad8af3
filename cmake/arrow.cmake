# The libraries of Apache Arrow, for `grapnel convert` of Parquet and Arrow files: the target gn_arrow_library, where they are found
# and can be used. They come with a description for CMake, or lie in a folder, GN_ARROW_ROOT, with include/ and, in it or in lib/,
# libarrow.so and libparquet.so, also under the names with their version alone: so they are in Python's pyarrow.

# gn_arrow_described(TARGETS) - by their packages' own descriptions.
function(gn_arrow_described targets)
  find_package(Arrow CONFIG QUIET)
  find_package(Parquet CONFIG QUIET)
  if(TARGET Arrow::arrow_shared AND TARGET Parquet::parquet_shared)
    set(${targets} Parquet::parquet_shared Arrow::arrow_shared PARENT_SCOPE)
  endif()
endfunction()

# gn_arrow_found(LIBRARIES INCLUDE) - by their files.
function(gn_arrow_found libraries include)
  set(only "")
  if(GN_ARROW_ROOT)
    set(only NO_DEFAULT_PATH) # headers of one Arrow do not go with libraries of another
  endif()
  find_path(GN_ARROW_INCLUDE parquet/arrow/reader.h HINTS ${GN_ARROW_ROOT} PATH_SUFFIXES include NO_CACHE ${only})
  if(NOT GN_ARROW_INCLUDE)
    return()
  endif()
  file(STRINGS ${GN_ARROW_INCLUDE}/arrow/util/config.h version REGEX "^#define ARROW_SO_VERSION ")
  string(REGEX MATCH "[0-9]+" version "${version}")
  foreach(name parquet arrow)
    find_library(GN_ARROW_${name} NAMES ${name} lib${name}.so.${version} NAMES_PER_DIR HINTS ${GN_ARROW_ROOT} PATH_SUFFIXES lib
      NO_CACHE ${only})
  endforeach()
  if(GN_ARROW_parquet AND GN_ARROW_arrow)
    set(${libraries} ${GN_ARROW_parquet} ${GN_ARROW_arrow} PARENT_SCOPE)
    set(${include} ${GN_ARROW_INCLUDE} PARENT_SCOPE)
  endif()
endfunction()

# gn_arrow_usable(RESULT LIBRARIES INCLUDE) - this compiler, this version of theirs and their standard library go together.
function(gn_arrow_usable result libraries include)
  include(CheckCXXSourceCompiles)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_REQUIRED_LIBRARIES ${libraries})
  set(CMAKE_REQUIRED_INCLUDES ${include})
  set(CMAKE_REQUIRED_QUIET ON)
  string(MD5 key "${libraries} ${include}") # the answer is kept, but not for others
  check_cxx_source_compiles("
    #include <arrow/api.h>
    #include <arrow/io/file.h>
    #include <arrow/util/float16.h>
    #include <parquet/arrow/reader.h>
    int main()
    {
      parquet::arrow::FileReaderBuilder builder;
      auto file = arrow::io::ReadableFile::Open(std::string(\"name\"));
      std::unique_ptr<parquet::arrow::FileReader> reader;
      if (!file.ok() || !builder.Open(*file).ok() || !builder.Build(&reader).ok())
        return 1;
      return reader->GetRecordBatchReader().ok() && arrow::Type::DECIMAL32 != arrow::Type::NA;
    }" GN_ARROW_USABLE_${key})
  set(${result} ${GN_ARROW_USABLE_${key}} PARENT_SCOPE)
endfunction()

set(gn_arrow_libraries "")
set(gn_arrow_include "")
if(NOT GN_ARROW_ROOT)
  gn_arrow_described(gn_arrow_libraries)
endif()
if(NOT gn_arrow_libraries)
  gn_arrow_found(gn_arrow_libraries gn_arrow_include)
endif()
set(gn_arrow_works OFF)
if(gn_arrow_libraries)
  gn_arrow_usable(gn_arrow_works "${gn_arrow_libraries}" "${gn_arrow_include}")
endif()

if(gn_arrow_works)
  message(STATUS "Parquet and Arrow files: by ${gn_arrow_libraries}")
  add_library(gn_arrow_library INTERFACE)
  target_include_directories(gn_arrow_library SYSTEM INTERFACE ${gn_arrow_include})
  target_link_libraries(gn_arrow_library INTERFACE ${gn_arrow_libraries})
elseif(gn_arrow_libraries)
  message(STATUS "Parquet and Arrow files: not read, ${gn_arrow_libraries} do not go with this compiler; Arrow 21 or later is needed")
endif()
if(NOT gn_arrow_works AND NOT GN_ARROW STREQUAL AUTO)
  message(FATAL_ERROR "GN_ARROW is on, but Apache Arrow is not found, or cannot be used; name its folder by GN_ARROW_ROOT")
endif()
