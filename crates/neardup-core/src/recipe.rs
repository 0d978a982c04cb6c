/*! recipe */
