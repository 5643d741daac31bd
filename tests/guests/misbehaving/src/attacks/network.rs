//! Reaching the network.

use super::{Attack, Attempt, all_of};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{
    ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress,
};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp_create_socket::create_udp_socket;

pub const ATTACKS: &[Attack] = &[
    ("tcp_loopback", tcp_loopback),
    ("tcp_metadata_service", tcp_metadata_service),
    ("tcp_ipv6", tcp_ipv6),
    ("tcp_listen", tcp_listen),
    ("udp_send", udp_send),
    ("name_lookup", name_lookup),
];

fn v4(address: (u8, u8, u8, u8), port: u16) -> IpSocketAddress {
    IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address })
}

fn connect(family: IpAddressFamily, to: IpSocketAddress) -> Attempt {
    let socket = create_tcp_socket(family).map_err(named)?;
    socket
        .start_connect(&instance_network(), to)
        .map_err(named)?;
    Ok("a connection was begun".to_owned())
}

fn named(code: ErrorCode) -> String {
    code.name().to_owned()
}

fn tcp_loopback() -> Attempt {
    all_of([9, 22, 80].map(|port| connect(IpAddressFamily::Ipv4, v4((127, 0, 0, 1), port))))
}

fn tcp_metadata_service() -> Attempt {
    connect(IpAddressFamily::Ipv4, v4((169, 254, 169, 254), 80))
}

fn tcp_ipv6() -> Attempt {
    let address = IpSocketAddress::Ipv6(Ipv6SocketAddress {
        port: 9,
        flow_info: 0,
        address: (0, 0, 0, 0, 0, 0, 0, 1),
        scope_id: 0,
    });
    connect(IpAddressFamily::Ipv6, address)
}

fn tcp_listen() -> Attempt {
    let socket = create_tcp_socket(IpAddressFamily::Ipv4).map_err(named)?;
    socket
        .start_bind(&instance_network(), v4((0, 0, 0, 0), 0))
        .map_err(named)?;
    Ok("a port was bound".to_owned())
}

fn udp_send() -> Attempt {
    let socket = create_udp_socket(IpAddressFamily::Ipv4).map_err(named)?;
    socket
        .start_bind(&instance_network(), v4((0, 0, 0, 0), 0))
        .map_err(named)?;
    Ok("a port was bound".to_owned())
}

fn name_lookup() -> Attempt {
    let names = ["localhost", "example.com"];
    all_of(names.map(|name| {
        let stream = resolve_addresses(&instance_network(), name).map_err(named)?;
        loop {
            match stream.resolve_next_address() {
                Ok(Some(address)) => return Ok(format!("{name} is {address:?}")),
                Ok(None) => return Err(format!("{name}: no address")),
                Err(ErrorCode::WouldBlock) => stream.subscribe().block(),
                Err(code) => return Err(named(code)),
            }
        }
    }))
}
