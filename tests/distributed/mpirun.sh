# For the scripts beside it: ranks N PROGRAM ARGUMENTS... starts N ranks on this machine alone, in five minutes at most (else status 124); with root's
# permission where root runs the tests, more ranks than cores, and no network but the loopback.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_plm_rsh_agent=/bin/false
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
export GRADUS_NUM_THREADS=1 # ranks share the cores
unset DISPLAY

ranks() {
  count=$1
  shift
  limit=${SECONDS_FOR_RANKS:-300} begun=$(date +%s) ended=0
  timeout --kill-after=5 "$limit" "$mpirun" -n "$count" "$@" || ended=$?
  # 137 is timeout's status after --kill-after, and mpirun's where a rank was killed.
  if [ $(($(date +%s) - begun)) -ge "$limit" ]; then
    echo "$count ranks have not ended in $limit s: $*" >&2
    ended=124
  fi
  return $ended
}

# Without MPI the test is skipped (status 77), and its message is shown.
mpirun=$1
if [ -z "$mpirun" ] || ! command -v "$mpirun" >/dev/null; then
  echo "distributed: no MPI, so nothing ran as processes; on Debian and Ubuntu: apt install libopenmpi-dev openmpi-bin"
  exit 77
fi
shift
