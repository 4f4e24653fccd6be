//! The allocator of the command: mimalloc for Rust, and for the parser, whose many small trees are what a
//! search spends its memory on. The library chooses no allocator; that is for the host.

#![expect(
    unsafe_code,
    reason = "the parser takes its allocator as C functions, before anything else of it is used"
)]

use std::ffi::c_void;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc.h: milliseconds until freed pages go back to the system.
const PURGE_DELAY: i32 = 15;

/// Gives the parser the same allocator. Call it once, first thing in `main`.
pub(crate) fn install() {
    // The allocator asks for huge pages, of which the kernel clears 2 MiB where a command touches a few
    // pages: without them a command starts in two thirds of the time, and a search of a large tree takes a
    // tenth less. What the library starts gets them back.
    // SAFETY: the call takes numbers and changes a flag of this process; where it fails nothing is lost.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
    // SAFETY: the four functions are one family (mimalloc's) with malloc's alignment and never return null
    // for a size above zero, since `checked` ends the process then. `main` calls this before it starts a
    // thread and before anything touches the parser.
    unsafe {
        // Trees come and go file by file; keeping their pages for later doubled the peak and saved no time.
        libmimalloc_sys::mi_option_set(PURGE_DELAY, 0);
        tree_sitter::set_allocator(Some(tree_sitter::Allocator {
            malloc,
            calloc,
            realloc,
            free,
        }));
    }
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    checked(unsafe { libmimalloc_sys::mi_malloc(size) }, size)
}

unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else {
        std::process::abort()
    };
    // SAFETY: any size may be asked for.
    checked(unsafe { libmimalloc_sys::mi_zalloc(bytes) }, bytes)
}

unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the parser passes null or a block that this family gave it.
    checked(unsafe { libmimalloc_sys::mi_realloc(block, size) }, size)
}

unsafe extern "C" fn free(block: *mut c_void) {
    // SAFETY: the parser passes null or a block that this family gave it.
    unsafe { libmimalloc_sys::mi_free(block) }
}

/// Without memory the parser cannot go on; the C library's own default ends the process too.
fn checked(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() && size > 0 {
        std::process::abort();
    }
    block
}
