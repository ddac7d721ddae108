#!/bin/sh
# Makes one file of a page and its parts: join.sh PAGE OUT FOLDER... Each line "<!-- join NAME -->" of PAGE becomes the file
# NAME of the first FOLDER that has it. NAME.gz.base64 stands for what gzip and then base64 make of NAME; PAGE.js for the
# script with the page's own name; a part that is HTML may itself have such lines. What another part holds must not end the
# <script> it stands in.
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
