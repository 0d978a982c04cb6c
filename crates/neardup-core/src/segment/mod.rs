/*! segment */
