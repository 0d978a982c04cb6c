/*! cluster */
