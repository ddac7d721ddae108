// Before a test program starts under node: the environment, for GRADUS_ISA, GRADUS_POISON and others.
Module['preRun'] = () => Object.assign(ENV, process.env);
