//! The surface of the device library for plain rustc: signatures only, nothing runs.
#![allow(non_snake_case)]
extern crate cuda_macros;
pub use cuda_macros::*;

pub use disjoint::DisjointSlice;
pub use thread::{Index1D, ThreadIndex};

pub mod thread {
    use std::marker::PhantomData;

    pub struct Index1D;
    pub struct ThreadIndex<'kernel, IS> {
        raw: usize,
        brand: PhantomData<&'kernel mut IS>,
    }
    impl<'kernel, IS> ThreadIndex<'kernel, IS> {
        pub fn get(&self) -> usize {
            self.raw
        }
        pub fn is_valid(&self) -> bool {
            self.raw != usize::MAX
        }
        pub fn in_bounds(&self, len: usize) -> bool {
            self.raw < len
        }
    }
    pub fn index_1d<'kernel>() -> ThreadIndex<'kernel, Index1D> {
        ThreadIndex { raw: 0, brand: PhantomData }
    }
    pub fn sync_threads() {}
    macro_rules! registers {
        ($($name:ident)*) => {$(pub fn $name() -> u32 { 0 })*};
    }
    registers! {
        threadIdx_x threadIdx_y threadIdx_z blockIdx_x blockIdx_y blockIdx_z
        blockDim_x blockDim_y blockDim_z gridDim_x gridDim_y gridDim_z
    }
}

pub mod fence {
    pub fn threadfence_block() {}
    pub fn threadfence() {}
    pub fn threadfence_system() {}
}

pub mod disjoint {
    use crate::thread::{Index1D, ThreadIndex};
    use std::marker::PhantomData;

    pub struct DisjointSlice<'a, T, IS = Index1D> {
        ptr: *mut T,
        len: usize,
        brand: PhantomData<(&'a mut T, IS)>,
    }
    impl<'a, T, IS> DisjointSlice<'a, T, IS> {
        pub fn len(&self) -> usize {
            self.len
        }
        pub fn is_empty(&self) -> bool {
            self.len == 0
        }
        pub fn get_mut(&mut self, index: ThreadIndex<'_, IS>) -> Option<&mut T> {
            if index.get() < self.len { Some(unsafe { &mut *self.ptr.add(index.get()) }) } else { None }
        }
        pub unsafe fn get_unchecked_mut(&mut self, index: usize) -> &mut T {
            unsafe { &mut *self.ptr.add(index) }
        }
        pub fn as_mut_ptr(&mut self) -> *mut T {
            self.ptr
        }
    }
}
