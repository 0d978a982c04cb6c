/*! verify */
