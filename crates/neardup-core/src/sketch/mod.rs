/*! sketch */
