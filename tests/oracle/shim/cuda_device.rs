//! The surface of the device library for plain rustc. A host loop runs kernels thread by thread: it sets each one's position.
#![allow(non_snake_case)]
extern crate cuda_macros;
pub use cuda_macros::*;

pub use disjoint::DisjointSlice;
pub use thread::{Index1D, ThreadIndex};

/// Where the thread that runs now stands.
pub mod host {
    use std::cell::Cell;
    type Dim3 = (u32, u32, u32);

    thread_local! {
        pub(crate) static POSITION: Cell<[Dim3; 4]> = const { Cell::new([(0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 1)]) };
    }
    pub fn set_position(block: Dim3, thread: Dim3, grid: Dim3, block_size: Dim3) {
        POSITION.with(|p| p.set([block, thread, grid, block_size]));
    }
}

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
        let raw = blockIdx_x() as usize * blockDim_x() as usize + threadIdx_x() as usize;
        ThreadIndex { raw, brand: PhantomData }
    }
    pub fn sync_threads() {}
    macro_rules! registers {
        ($($name:ident $row:literal $axis:tt)*) => {$(pub fn $name() -> u32 { crate::host::POSITION.with(|p| p.get()[$row].$axis) })*};
    }
    registers! {
        threadIdx_x 1 0 threadIdx_y 1 1 threadIdx_z 1 2 blockIdx_x 0 0 blockIdx_y 0 1 blockIdx_z 0 2
        blockDim_x 3 0 blockDim_y 3 1 blockDim_z 3 2 gridDim_x 2 0 gridDim_y 2 1 gridDim_z 2 2
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
        pub fn from_host(elements: &'a mut [T]) -> Self {
            DisjointSlice { ptr: elements.as_mut_ptr(), len: elements.len(), brand: PhantomData }
        }
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
