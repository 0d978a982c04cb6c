/*! candidates */
