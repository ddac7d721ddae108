#!/bin/sh
# check_growing_test.sh SOURCE: check_growing.sh accepts one more row of chapter 33, and no row that is lost, changed or moved.
set -eu
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
expected=$source/tests/compat/course/33_hybrids/expected.txt
accepted() { # EDIT: whether a program that prints the expected lines after this edit passes
  sed "$1" "$expected" >printed.txt
  cmp -s printed.txt "$expected" && [ "$1" ] && {
    echo "the edit changes nothing: $1"
    exit 1
  }
  printf '#!/bin/sh\ncat %s/printed.txt\n' "$folder" >program
  chmod +x program
  sh "$source/tests/compat/check_growing.sh" "$folder/program" "$expected" >message.txt
}
for edit in '' '/^SiameseNorm/a New                      1.95                      22%' '1i A line before'; do
  accepted "$edit" || {
    echo "refuses '$edit': $(cat message.txt)"
    exit 1
  }
done
for edit in '/^Keel /d' '/^Pre-LN/s/%/ %/' '/^ReZero/{h;d};/^Admin/G' '/^Mix-LN turned/d'; do
  ! accepted "$edit" || {
    echo "accepts '$edit'"
    exit 1
  }
done
