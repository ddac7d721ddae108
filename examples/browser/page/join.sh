#!/bin/sh
# Joins a page and its parts into one file: join.sh PAGE OUT FOLDER... Each line "<!-- join NAME -->" of PAGE is replaced by the
# file NAME of the first FOLDER that has it. NAME.gz.base64 is NAME compressed by gzip and encoded in base64; PAGE.js is the
# script with the page's own name; an HTML part may itself contain such lines. Other parts must not contain text that ends the
# surrounding <script>.
set -eu
page=$1
out=$2
shift 2
own=${page##*/}
own=${own%.html}

join() { # FILE FOLDER...
  file=$1
  shift
  while IFS= read -r line; do
    case $line in
      '<!-- join '*' -->')
        name=${line#'<!-- join '}
        name=${name%' -->'}
        [ "$name" != PAGE.js ] || name=$own.js
        part=
        for folder; do
          [ -f "$folder/${name%.gz.base64}" ] && part=$folder/${name%.gz.base64} && break
        done
        [ "$part" ] || { echo "join.sh: there is no $name in $*" >&2; exit 1; }
        case $name in
          *.gz.base64)
            gzip -9 -n -c "$part" | base64 | tr -d '\n'
            echo
            ;;
          *.html) join "$part" "$@" ;;
          *)
            if grep -qiE '</script|<!--' "$part"; then
              echo "join.sh: $part contains </script or <!--, which would end the surrounding script" >&2
              exit 1
            fi
            cat "$part"
            ;;
        esac
        ;;
      *) printf '%s\n' "$line" ;;
    esac
  done <"$file"
}

join "$page" "$@" >"$out.part"
mv "$out.part" "$out"
