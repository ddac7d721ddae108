# Defines the imported targets gradus::pcre2, gradus::utf8proc and gradus::sentencepiece if these libraries are found:
# they have no CMake packages. GRADUS_TEXT_MISSING lists the Debian packages to install, if any.
# Read by the build and, for the component text, by the installed package.
set(GRADUS_TEXT_MISSING "")
function(gradus_text_library name header library debian_package)
  string(TOUPPER GRADUS_${name} prefix)
  find_path(${prefix}_INCLUDE ${header})
  find_library(${prefix}_LIBRARY ${library})
  mark_as_advanced(${prefix}_INCLUDE ${prefix}_LIBRARY)
  if(TARGET gradus::${name})
    return()
  elseif(NOT ${prefix}_INCLUDE OR NOT ${prefix}_LIBRARY)
    string(JOIN " " missing ${GRADUS_TEXT_MISSING} ${debian_package})
    set(GRADUS_TEXT_MISSING ${missing} PARENT_SCOPE)
    return()
  endif()
  add_library(gradus::${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(gradus::${name} PROPERTIES
    IMPORTED_LOCATION "${${prefix}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${prefix}_INCLUDE}")
endfunction()
gradus_text_library(pcre2 pcre2.h pcre2-8 libpcre2-dev)
gradus_text_library(utf8proc utf8proc.h utf8proc libutf8proc-dev)
gradus_text_library(sentencepiece sentencepiece_processor.h sentencepiece libsentencepiece-dev)
