/*! normalize */
