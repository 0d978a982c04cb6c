/*! weigh */
