#include <pmix/src/include/pmix_frameworks.h>

// The prefixes by which Open MPI 5 knows OpenPMIx's parameters from its own, as
// of OpenPMIx 5.0; not constant, since its header says so.

static char mca[] = "mca", bfrops[] = "bfrops", gds[] = "gds",
            pcompress[] = "pcompress", pdl[] = "pdl", pfexec[] = "pfexec",
            pgpu[] = "pgpu", pif[] = "pif", pinstalldirs[] = "pinstalldirs",
            plog[] = "plog", pmdl[] = "pmdl", pnet[] = "pnet", preg[] = "preg",
            prm[] = "prm", psec[] = "psec", psensor[] = "psensor",
            pshmem[] = "pshmem", psquash[] = "psquash", pstat[] = "pstat",
            pstrg[] = "pstrg", ptl[] = "ptl";

char* pmix_framework_names[] = {
  mca,          bfrops,  gds,   pcompress, pdl,  pfexec, pgpu, pif,
  pinstalldirs, plog,    pmdl,  pnet,      preg, prm,    psec, psensor,
  pshmem,       psquash, pstat, pstrg,     ptl,  nullptr};
