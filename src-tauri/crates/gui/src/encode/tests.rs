use super::*;

fn limits(max_edge: u32, max_patches: u32) -> ImageLimits {
    ImageLimits {
        max_edge,
        max_patches,
        max_edge_many: 2000,
        many: 20,
        max_images: 100,
        max_request_bytes: 32 << 20,
        max_image_bytes: 10 << 20,
    }
}

fn picture(width: u32, height: u32) -> Capture {
    let bgrx = (0..height)
        .flat_map(|y| (0..width).flat_map(move |x| [(x / 8) as u8, (y / 8) as u8, 90, 0]))
        .collect();
    Capture::new(width, height, bgrx)
}

fn whole(capture: &Capture) -> PhysicalRect {
    PhysicalRect {
        x: 0,
        y: 0,
        width: capture.width,
        height: capture.height,
    }
}

/// D-02: every screen of the table is sent in exactly the size the service would see unshrunk.
#[test]
fn d02_sizes_of_the_table() {
    let standard = limits(1568, 1568);
    let large = limits(2576, 4784);
    let cases = [
        ((1024, 768), (1024, 768), (1024, 768)),
        ((1280, 800), (1280, 800), (1280, 800)),
        ((1366, 768), (1366, 768), (1366, 768)),
        ((1440, 900), (1389, 868), (1440, 900)),
        ((1920, 1080), (1456, 819), (1920, 1080)),
        ((2560, 1440), (1456, 819), (2560, 1440)),
        ((2880, 1800), (1389, 868), (2420, 1512)),
        ((3840, 2160), (1456, 819), (2576, 1449)),
        ((5120, 1440), (1568, 441), (2576, 724)),
        ((1080, 1920), (819, 1456), (1080, 1920)),
    ];
    for ((width, height), small, big) in cases {
        let size = |limits| {
            let Size { width, height } = fit(limits, Size { width, height });
            (width, height)
        };
        assert_eq!(size(&standard), small, "{width}x{height}, standard");
        assert_eq!(size(&large), big, "{width}x{height}, large");
    }
}

/// D-02: the encoded file really has the declared size, for frames and for zooms.
#[test]
fn d02_files_have_the_declared_size() {
    let capture = picture(2880, 1800);
    let size = |width, height| Size { width, height };
    let sent = fit(&limits(1568, 1568), size(2880, 1800));
    let image = encode(&capture, whole(&capture), sent).unwrap();
    let decoded = image::load_from_memory(&image.data).unwrap();
    assert_eq!((decoded.width(), decoded.height()), (1389, 868));
    assert_eq!((image.width, image.height), (1389, 868));

    let region = PhysicalRect {
        x: 100,
        y: 50,
        width: 400,
        height: 200,
    };
    let zoomed = fit_zoom(&limits(1568, 1568), size(400, 200), sent);
    assert_eq!(zoomed, size(1200, 600));
    let image = encode(&capture, region, zoomed).unwrap();
    let decoded = image::load_from_memory(&image.data).unwrap();
    assert_eq!((decoded.width(), decoded.height()), (1200, 600));
}

/// Both halves of a shrunk picture fit together: a smooth gradient stays smooth at the seam.
#[test]
fn there_is_no_seam_between_the_halves() {
    let (width, height) = (600, 1200);
    let bgrx = (0..height)
        .flat_map(|y: u32| (0..width).flat_map(move |_| [(y * 255 / height) as u8; 4]))
        .collect();
    let capture = Capture::new(width, height, bgrx);
    let sent = Size {
        width: 400,
        height: 800,
    };
    let pixels = resize(&capture, whole(&capture), sent).unwrap();
    let column: Vec<i32> = pixels
        .chunks_exact(4 * 400)
        .map(|row| row[800].into())
        .collect();
    assert!(
        column
            .windows(2)
            .all(|pair| (0..=1).contains(&(pair[1] - pair[0])))
    );
    let middle = 399 * 255 / 800;
    assert!((column[399] - middle).abs() <= 1 && (column[400] - middle).abs() <= 1);
}

/// Colours come out as they went in: blue stays blue.
#[test]
fn colours_keep_their_channels() {
    let capture = Capture::new(64, 64, [250, 20, 10, 0].repeat(64 * 64));
    let sent = Size {
        width: 32,
        height: 32,
    };
    let image = encode(&capture, whole(&capture), sent).unwrap();
    let decoded = image::load_from_memory(&image.data).unwrap().to_rgb8();
    let [red, green, blue] = decoded.get_pixel(16, 16).0;
    assert!(blue > 240 && red < 20 && green < 30, "{red} {green} {blue}");
}

/// A region that leaves the picture is an error, not a panic.
#[test]
fn regions_outside_are_errors() {
    let capture = picture(10, 10);
    let area = PhysicalRect {
        x: 5,
        y: 0,
        width: 6,
        height: 1,
    };
    assert!(crop(&capture, area).is_err());
    let short = Capture {
        width: 10,
        height: 11,
        ..capture
    };
    assert!(
        encode(
            &short,
            whole(&short),
            Size {
                width: 5,
                height: 5
            }
        )
        .is_err()
    );
}

/// Equal pixels of another shape are another picture.
#[test]
fn the_hash_knows_the_shape() {
    let bgrx = vec![7; 4 * 12];
    let shaped = |width, height| Capture::new(width, height, bgrx.clone());
    assert_ne!(hash(&shaped(3, 4)), hash(&shaped(4, 3)));
    assert_eq!(hash(&shaped(3, 4)).len(), 64);
}
