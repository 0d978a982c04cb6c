//! Arrow arrays from and to Python, by the capsules of Arrow's C data interface.
//!
//! `pyo3-arrow` does the same and more, with Arrow's compute crates, which no code of ours calls and which
//! take longer to compile than all of neardup.

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::{Array, ArrayRef, LargeStringArray, make_array};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// An array: as an argument any object with `__arrow_c_array__`, as a result such an object, which
/// `pyarrow.array` takes over without a copy.
#[pyclass(module = "neardup._core", frozen)]
pub struct ArrowArray(ArrayRef);

impl ArrowArray {
    fn large_strings(&self) -> PyResult<&LargeStringArray> {
        let strings = self.0.as_string_opt();
        strings.ok_or_else(|| PyTypeError::new_err("expected an array of large strings"))
    }

    /// The array itself.
    pub fn array(&self) -> &dyn Array {
        self.0.as_ref()
    }
}

impl<T: Array + 'static> From<T> for ArrowArray {
    fn from(array: T) -> Self {
        ArrowArray(Arc::new(array))
    }
}

impl<'py> FromPyObject<'_, 'py> for ArrowArray {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(export) = object.getattr(intern!(object.py(), "__arrow_c_array__")) else {
            return Err(PyTypeError::new_err(format!(
                "expected an Arrow array, found {}",
                object.get_type().name()?
            )));
        };
        let (schema, array): Capsules<'py> = export.call0()?.extract()?;
        let schema = schema
            .pointer_checked(Some(SCHEMA))?
            .cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names hold these structures. The array is moved out, as the
        // interface asks of who imports it, so the capsule's destructor releases nothing.
        let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
        data.map(|data| ArrowArray(make_array(data)))
            .map_err(refused)
    }
}

#[pymethods]
impl ArrowArray {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// How many values are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.0.null_count()
    }

    /// Bytes of the values.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.to_data().get_slice_memory_size().unwrap_or(0)
    }

    /// Some values in a row, without a copy.
    fn slice(&self, begin: usize, length: usize) -> Self {
        let begin = begin.min(self.0.len());
        ArrowArray(self.0.slice(begin, length.min(self.0.len() - begin)))
    }

    /// A text of an array of large strings; None for null.
    fn __getitem__(&self, row: usize) -> PyResult<Option<&str>> {
        let texts = self.large_strings()?;
        match row < texts.len() {
            true => Ok(texts.is_valid(row).then(|| texts.value(row))),
            false => Err(PyIndexError::new_err(row)),
        }
    }

    /// The capsules of the type and of the array; the wish for another type is not followed.
    #[pyo3(signature = (_requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        _requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Capsules<'py>> {
        let (array, schema) = to_ffi(&self.0.to_data()).map_err(refused)?;
        Ok((
            PyCapsule::new_with_value(py, schema, SCHEMA)?,
            PyCapsule::new_with_value(py, array, ARRAY)?,
        ))
    }
}

fn refused(error: impl ToString) -> PyErr {
    PyTypeError::new_err(error.to_string())
}
